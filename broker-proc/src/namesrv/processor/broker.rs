//! Requests of and about brokers.

use std::sync::Arc;

use super::{Answer, Failure, NamesrvProcessor, success, success_with};
use crate::namesrv::{BrokerRegistration, ORDER_TOPIC_CONFIG, UnregisterReason};
use crate::remoting::headers::{
    AddWritePermResponseHeader, BrokerHeartbeatRequestHeader, BrokerMemberGroupRequestHeader,
    BrokerNameRequestHeader, QueryDataVersionRequestHeader, QueryDataVersionResponseHeader,
    RegisterBrokerRequestHeader, RegisterBrokerResponseHeader, UnregisterBrokerRequestHeader,
    WipeWritePermResponseHeader,
};
use crate::remoting::protocol::{
    DataVersion, GetBrokerMemberGroupResponseBody, KvTable, RegisterBrokerBody,
    TopicConfigAndMappingSerializeWrapper,
};
use crate::remoting::{Channel, RemotingCommand, mq_version};

impl NamesrvProcessor {
    pub(super) fn register_broker(&self, channel: &Arc<Channel>, request: &RemotingCommand) -> Answer {
        let header: RegisterBrokerRequestHeader = request.decode_header()?;
        check_body(&header, request)?;
        let settings = self.settings();
        let registration = BrokerRegistration {
            header,
            body: registered_body(request)?,
            channel: Some(Arc::clone(channel)),
        };
        let result = self
            .routes
            .register(registration, settings.delete_topic_with_broker_registration, self.now())
            .map_err(|error| Failure::Refused(error.to_string()))?;
        let answer = success(request).with_header(&RegisterBrokerResponseHeader {
            ha_server_addr: result.ha_server_addr,
            master_addr: result.master_addr,
        });
        if !settings.return_order_topic_config_to_broker {
            return Ok(answer);
        }
        let table = self.kv_config.namespace(ORDER_TOPIC_CONFIG).unwrap_or_default();
        Ok(answer.with_json_body(&KvTable { table })?)
    }

    pub(super) fn unregister_broker(&self, request: &RemotingCommand) -> Answer {
        let header: UnregisterBrokerRequestHeader = request.decode_header()?;
        self.routes.unregister(&header, UnregisterReason::Asked);
        Ok(success(request))
    }

    pub(super) fn broker_heartbeat(&self, request: &RemotingCommand) -> Answer {
        let header: BrokerHeartbeatRequestHeader = request.decode_header()?;
        self.routes.renew(&header.cluster_name, &header.broker_addr, self.now());
        Ok(success(request))
    }

    pub(super) fn query_data_version(&self, request: &RemotingCommand) -> Answer {
        let header: QueryDataVersionRequestHeader = request.decode_header()?;
        let version: DataVersion = request.decode_body()?;
        let (cluster, addr) = (&header.cluster_name, &header.broker_addr);
        let changed = self.routes.is_topic_config_changed(cluster, addr, &version);
        self.routes.renew(cluster, addr, self.now());
        let answer = success(request).with_header(&QueryDataVersionResponseHeader { changed });
        match self.routes.data_version(cluster, addr) {
            Some(registered) => Ok(answer.with_json_body(&registered)?),
            None => Ok(answer),
        }
    }

    pub(super) fn get_broker_member_group(&self, request: &RemotingCommand) -> Answer {
        let header: BrokerMemberGroupRequestHeader = request.decode_header()?;
        let broker_member_group = self.routes.member_group(&header.cluster_name, &header.broker_name);
        success_with(request, &GetBrokerMemberGroupResponseBody { broker_member_group })
    }

    pub(super) fn get_broker_cluster_info(&self, request: &RemotingCommand) -> Answer {
        success_with(request, &self.routes.cluster_info())
    }

    pub(super) fn wipe_write_perm(&self, request: &RemotingCommand) -> Answer {
        let header: BrokerNameRequestHeader = request.decode_header()?;
        let wipe_topic_count = count(self.routes.wipe_write_perm(&header.broker_name));
        Ok(success(request).with_header(&WipeWritePermResponseHeader { wipe_topic_count }))
    }

    pub(super) fn add_write_perm(&self, request: &RemotingCommand) -> Answer {
        let header: BrokerNameRequestHeader = request.decode_header()?;
        let add_topic_count = count(self.routes.add_write_perm(&header.broker_name));
        Ok(success(request).with_header(&AddWritePermResponseHeader { add_topic_count }))
    }
}

fn count(topics: usize) -> i32 {
    i32::try_from(topics).unwrap_or(i32::MAX)
}

/// Refuses a body that was damaged on the way, and the compressed form, which Java brokers do not send.
fn check_body(header: &RegisterBrokerRequestHeader, request: &RemotingCommand) -> Result<(), Failure> {
    let crc = crc32fast::hash(&request.body.to_bytes()) & 0x7FFF_FFFF;
    if header.body_crc32 != 0 && i64::from(header.body_crc32) != i64::from(crc) {
        return Err(Failure::Refused("crc32 not match".to_owned()));
    }
    if header.compressed {
        let remark = "compressed registrations are not supported, register with compressed=false";
        return Err(Failure::Refused(remark.to_owned()));
    }
    Ok(())
}

/// The topics of a registration; brokers before version 37 send the bare table.
fn registered_body(request: &RemotingCommand) -> Result<RegisterBrokerBody, Failure> {
    if request.body.is_empty() {
        return Ok(RegisterBrokerBody::default());
    }
    if request.version >= mq_version::REGISTER_BROKER_BODY {
        return Ok(request.decode_body()?);
    }
    let topic_config_serialize_wrapper: TopicConfigAndMappingSerializeWrapper = request.decode_body()?;
    Ok(RegisterBrokerBody { topic_config_serialize_wrapper, ..Default::default() })
}
